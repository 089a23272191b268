"""The report of `podscale reproduce`: each row with the article's figure beside ours, and why they differ."""
