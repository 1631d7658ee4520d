"""What does somebody who is about to work need to know, in a few kilobytes?

A pack quotes what the index holds on a task, sorted by what each source can be trusted for. It is
made of the answers of the search room; nothing in it is paraphrased.
"""
