"""The picture of the demo, drawn by matplotlib."""

import matplotlib as mpl
import numpy as np

from lodcore.demo.vowels.learning import Trained
from lodcore.demo.vowels.network import Epoch
from lodcore.demo.vowels.picture import check_file, draw, write

mpl.use("Agg")

EPOCHS = [Epoch(2.0, 20.0), Epoch(1.0, 90.0)]
FOUND = [
    Trained(EPOCHS, 50.0, np.array([[1, 0], [1, 0]]), 0.1),
    Trained(EPOCHS, 100.0, np.eye(2, dtype=np.int64), 0.1),
]


def test_the_picture_has_losses_accuracies_and_confusions():
    losses, accuracies, matrix = draw(FOUND).axes
    assert [line.get_ydata().tolist() for line in losses.lines] == [[2.0, 1.0]] * 2
    assert [line.get_ydata().tolist() for line in accuracies.lines[:2]] == [[20.0, 90.0]] * 2
    assert "75.00" in accuracies.get_title()
    assert matrix.images[0].get_array().tolist() == [[2, 0], [1, 1]]
    assert sorted(text.get_text() for text in matrix.texts) == ["1", "1", "2"]


def test_the_picture_is_written(tmp_path):
    for name, begins in (("a.png", b"\x89PNG"), ("b.svg", b"<?xml")):
        file = str(tmp_path / name)
        check_file(file)
        write(FOUND, file)
        assert (tmp_path / name).read_bytes().startswith(begins)
