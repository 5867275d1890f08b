"""Figures for papers: what a run or a model shows as plain arrays, and the drawing of it; one kind of data a module."""
