"""The room that pure mathematics: scaling laws, queueing, advice. No input or output."""
