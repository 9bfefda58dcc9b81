// A slider alone: its values stream to Python while it is dragged.

export default {};
