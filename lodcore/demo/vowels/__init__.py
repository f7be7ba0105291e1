"""The act of the demo with the Japanese Vowels: by gradients, or by a reservoir."""
