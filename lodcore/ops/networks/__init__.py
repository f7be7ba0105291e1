"""Operators of networks: embeddings, products, recurrent layers, attention, normalization, beam search."""
