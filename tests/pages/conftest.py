"""What every page test pays for once, and what it need not wait for."""

from functools import cache

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from core.lab import memory

# Here one process draws all pages for hundreds of texts. What one test had computed, another need not.
memory.MEMORY.room = 5 * memory.ROOM

# For each app that is run, Streamlit reads the metadata of every installed package: longer than most pages take.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# Scripts are compiled once, not for each run.
local_script_runner.ScriptCache = cache(local_script_runner.ScriptCache)
_polled = local_script_runner.require_widgets_deltas


def _waited(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Streamlit looks a thousand times a second through all that was drawn so far whether the run has ended."""
    runner._script_thread.join(timeout)
    _polled(runner, 0 if runner._script_thread.is_alive() else timeout)


local_script_runner.require_widgets_deltas = _waited
