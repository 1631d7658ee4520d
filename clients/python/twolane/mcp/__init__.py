"""The bridge for agents that speak the Model Context Protocol, over standard input and output.

Importing `twolane.mcp.server` loads the SDK, which takes more than a second: only ``twolane mcp``
does. `twolane.mcp.install` needs none of it.
"""
