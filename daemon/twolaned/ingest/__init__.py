"""How does a file become rows and passages?"""
