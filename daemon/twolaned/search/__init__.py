"""What answers this question?"""
