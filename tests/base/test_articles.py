"""Articles and numbers of names in messages."""

import lodcore
from lodcore.base.articles import there_are, with_article, with_number
from lodcore.batching import pack_plan
from lodcore.interop import Groups
from lodcore.ops import Vocabulary


def test_names_have_their_article():
    kinds = ("LoDTensor", "ndarray", "IndicesMap", "dict")
    assert [with_article(kind) for kind in kinds] == ["a LoDTensor", "an ndarray", "an IndicesMap", "a dict"]


def test_one_thing_is_not_in_the_plural():
    assert [with_number(number, "level") for number in (0, 1, 2)] == ["0 levels", "1 level", "2 levels"]
    assert with_number(1234, "token", ",") == "1,234 tokens"
    assert [there_are(number, "level") for number in (1, 2)] == ["there is 1 level", "there are 2 levels"]


def test_objects_with_one_part_are_shown_in_the_singular():
    assert repr(pack_plan([2], 4)).startswith("PackPlan(1 document in 1 bin of 4 tokens")
    assert repr(pack_plan([3, 3], 4)).startswith("PackPlan(2 documents in 2 bins of 4 tokens")
    assert repr(Groups({"v": lodcore.array([[1]])}, {"k": [7]})) == "Groups(1 group of 1 row by 'k': 'v')"
    assert repr(Vocabulary(["a"])).startswith("Vocabulary(1 word: ")
