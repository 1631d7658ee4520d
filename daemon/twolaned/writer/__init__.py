"""How does new material become part of the index?

The writer process: the only one that writes the store. It parses, tokenizes, inverts, seals and
merges, one small step at a time, so that a person's own `Save` never waits for bulk work.
"""
