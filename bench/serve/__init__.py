"""What a person's client sees: a real daemon on a temporary folder, measured over its socket.

Everything is imported through the API, the clients are gRPC's own asyncio clients in a process of
their own, and nothing is mocked. `python -m bench.serve --help` lists what can be set.
"""
