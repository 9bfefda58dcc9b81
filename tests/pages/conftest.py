"""What every page test pays for once."""

from functools import cache

from streamlit.components.v2 import manifest_scanner

# For each app that is run, Streamlit reads the metadata of every installed package: longer than most pages take.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
