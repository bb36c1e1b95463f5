"""Prints the engine's own requirements, as they are installed here: parity is shown with the very same MLX."""

from importlib.metadata import version

if __name__ == "__main__":
    names = ("mlx", "mlx-lm", "transformers", "huggingface-hub", "platformdirs")
    print(*(f"{name}{'[cpu]' if name == 'mlx' else ''}=={version(name)}" for name in names))
