"""What is a row, a passage, a result?

Plain frozen types that every other room shares. They know nothing of protobuf, LMDB or files.
"""
