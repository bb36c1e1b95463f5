"""Markdown: blocks, text documents, code colours and formulas. Imports no widgets."""
