"""What a step of a slider, and a click, cost a browser beside the picture: no other part of the page is looked at again."""

import pytest

# A matrix with bars that follow it, chips with lines for those who cannot see them, lines with wires, points in a plane.
ROOMS = ("attention", "why", "model", "norms")
CATEGORIES = ["devtools.timeline"]
STEPS = 12
# In one go: between two steps that are far apart the page would be told where the slider rests.
WALK = """async (e, steps) => {
  for (let i = 0; i < steps; i++) {
    e.value = Number(e.value) + (e.value === e.max || Number(e.value) % 2 ? -1 : 1);
    e.dispatchEvent(new Event('input'));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""


def traced(page, act):
    """What the browser notes of its own work while `act` is done."""
    session, events, ended = page.context.new_cdp_session(page), [], []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": CATEGORIES}})
    act()
    session.send("Tracing.end")
    while not ended:
        page.evaluate("() => new Promise(requestAnimationFrame)")
    session.detach()
    return events


def laid_out(page, act):
    """The names of the nodes below which the browser lays out anew while `act` is done, frame after frame."""
    events = traced(page, act)
    ends = [event["args"]["endData"] for event in events if event["name"] == "Layout" and "endData" in event["args"]]
    return [root["nodeName"] for end in ends for root in end["layoutRoots"]]


@pytest.mark.parametrize("room", ROOMS)
def test_a_step_lays_out_the_slider_and_its_words_alone(visitor, room):
    visit = visitor().open(f"/{room}", ready="[data-signature] canvas")
    page, slider = visit.page, visit.signature().locator("input[type=range]")
    slider.scroll_into_view_if_needed()

    def steps():
        slider.evaluate(WALK, STEPS)

    steps()  # what is drawn for the first time may take room
    roots = laid_out(page, steps)
    assert {"INPUT", "OUTPUT"} <= set(roots), "the slider and the value beside it change"
    assert roots.count("#document") <= STEPS / 3, "something else may move meanwhile, but not with every step"


def test_a_click_on_a_link_does_not_have_the_whole_page_styled_anew(visitor):
    """Nor does what comes for it: a rule that asks what a part of the page holds would (:has, with descendants)."""
    visit = visitor().open("/attention", ready="[data-quantity=next_probs] canvas")
    visit.settle()
    page = visit.page

    def cut():
        visit.signature().locator(".stage").focus()
        for key in ("ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        page.locator(".st-key-put_back").wait_for()
        visit.settle()

    events = traced(page, cut)
    styled = [event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree"]
    assert max(styled) > 50, "something is"
    assert max(styled) < 0.75 * page.locator("*").count()


def test_a_page_that_opens_is_styled_a_few_times_and_not_with_every_picture(visitor):
    visit = visitor().open("/norms?depth=all&norm_x=1", ready="[data-signature] canvas")
    events = traced(visit.page, lambda: visit.open("/norms?depth=all", ready="[data-signature] canvas"))
    styled = [event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree"]
    every, pictures = (visit.page.locator(f"css:light={one}").count() for one in ("*", "[data-drawn]"))
    assert pictures > 15
    assert sum(styled) < 8 * every
