"""Plugins of authors: found in the plugin folders of a bundle and among installed packages, used by DAG files and tasks."""
