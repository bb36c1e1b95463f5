"""The drafting methods: a file each, with one protocol for all."""
