"""What moves to the archive, and what is its digest?

Pure decisions and texts: which conversations are due, which weeks they belong to, which of their
statements stand for the week. The writer carries them out, and undoes them.
"""
