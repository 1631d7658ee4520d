"""Synthetic histories: exports that the importer reads, documents, and questions about them.

The words follow a Zipf-Mandelbrot law with topics and burstiness, as conversations do: a few words
are everywhere, most are rare, and a word that was said once is likely to be said again. Code
blocks, identifiers, lists and several languages are mixed in, so that tokenizing costs what it
costs on real text. The same seed gives the same bytes.
"""
