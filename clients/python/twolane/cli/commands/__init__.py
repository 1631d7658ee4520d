"""The commands, a module each; its ``command`` is what `twolane.cli.app` runs."""
