"""Which rows hold these terms?

Texts become terms (`analyzer`, in bulk `tokenizer`), terms become postings (`postings`), postings
become immutable segments (`segment`), and a `KeywordIndex` scores them with BM25, exactly.
"""
