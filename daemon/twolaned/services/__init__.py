"""How does a request become a domain call and its result a reply?

Translation only: one module for each gRPC service, converters in both directions, and the checks
of every limit that the API names. Errors are raised as domain errors; the server's interceptor
makes a status of them.
"""
