"""The signature control of a page moves its other pictures too while it is dragged, with no message to the server."""

from tests.browser.gestures import PICTURES, WATCH, drag


def test_each_step_of_attention_takes_the_place_of_the_one_before(visitor):
    """They move with the map above them: its slider is theirs."""
    visit = visitor().open("/attention", ready="[data-signature] canvas")
    tour = visit.page.locator(".st-key-tour")
    for step, quantity in (("2 ·", "scaled"), ("4 ·", "weights"), ("1 ·", "scores"), ("5 ·", "z"), ("2 ·", "scaled")):
        visit.page.get_by_role("radio", name=step).click()
        tour.locator(f"[data-quantity='{quantity}'] canvas").first.wait_for()
        visit.settle()
        assert not tour.locator("input[type=range]").is_visible()
        assert visit.signature().locator("input[type=range]").is_visible()
        visit.check()
    canvas = tour.locator("canvas").first
    visit.page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    drag(visit.page, visit.signature().locator("input[type=range]"), 0.5, 0.1, release=False)
    assert visit.page.evaluate("new Set(window.__pictures).size") >= 10
    assert visit.page.evaluate("window.__sent.length") == 0
    visit.page.mouse.up()
    visit.settle()
    visit.check()


def test_the_next_word_follows_the_temperature_while_it_is_dragged(visitor):
    visit = visitor().open("/attention", ready="[data-signature] canvas")
    words = visit.page.locator(".st-key-next canvas").first
    visit.page.evaluate(WATCH)
    words.evaluate(PICTURES)
    drag(visit.page, visit.signature().locator("input[type=range]"), 0.5, 0.98, release=False)
    assert visit.page.evaluate("new Set(window.__pictures).size") >= 10
    assert visit.page.evaluate("window.__sent.length") == 0, "it is no business of the server"
    visit.page.mouse.up()
    visit.page.get_by_text("p(Amy) = 0.2").wait_for()
    visit.check()
