"""What a step of a slider costs a browser beside its picture: nothing of the page is laid out again."""

import pytest

# A matrix with bars that follow it, chips with lines for those who cannot see them, lines with wires, points in a plane.
ROOMS = ("attention", "why", "model", "norms")
CATEGORIES = ["devtools.timeline"]
STEPS = 12
STEP = """(e) => {
  e.value = Number(e.value) + (e.value === e.max || Number(e.value) % 2 ? -1 : 1);
  e.dispatchEvent(new Event('input'));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def laid_out(page, act):
    """The names of the nodes below which the browser lays out anew while `act` is done, frame after frame."""
    session, events, ended = page.context.new_cdp_session(page), [], []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": CATEGORIES}})
    act()
    session.send("Tracing.end")
    while not ended:
        page.evaluate("() => new Promise(requestAnimationFrame)")
    session.detach()
    ends = [event["args"]["endData"] for event in events if event["name"] == "Layout" and "endData" in event["args"]]
    return [root["nodeName"] for end in ends for root in end["layoutRoots"]]


@pytest.mark.parametrize("room", ROOMS)
def test_a_step_lays_out_the_slider_and_its_words_alone(visitor, room):
    visit = visitor().open(f"/{room}", ready="[data-signature] canvas")
    page, slider = visit.page, visit.signature().locator("input[type=range]")
    slider.scroll_into_view_if_needed()

    def steps():
        for _ in range(STEPS):
            slider.evaluate(STEP)

    steps()  # what is drawn for the first time may take room
    roots = laid_out(page, steps)
    assert {"INPUT", "OUTPUT"} <= set(roots), "the slider and the value beside it change"
    assert roots.count("#document") <= STEPS / 3, "something else may move meanwhile, but not with every step"
