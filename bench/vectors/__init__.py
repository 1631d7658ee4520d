"""Speed and recall of the meaning lane's index beside other ways to find near vectors."""
