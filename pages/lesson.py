"""A lesson: titled links into the rooms, one after the other. In no menu, and no room of its own."""

from pages.shared import frame, lessons

frame.begin()

lessons.show()
