"""Markdown to pictures of text: blocks, documents, code colours and formulas. Imports no widgets."""
