"""WakefulQueue: items in their order, for readers that are awake and for those that sleep."""

import threading
import time

import pytest

from lodcore.base.wakeful import WakefulQueue

LONG = 0.05  # seconds after which every reader sleeps


def test_items_come_out_in_the_order_in_which_they_were_put():
    queue = WakefulQueue()
    for item in range(5):
        queue.put(item)
    assert [queue.get() for _ in range(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("pause", [0, 0.0001, LONG])
def test_a_waiting_reader_gets_what_is_put_sooner_or_later(pause):
    queue, found = WakefulQueue(), []
    reader = threading.Thread(target=lambda: found.append(queue.get()))
    reader.start()
    time.sleep(pause)
    queue.put("item")
    reader.join(timeout=600)
    assert found == ["item"]


def test_two_threads_answer_each_other_without_losing_a_turn():
    questions, answers = WakefulQueue(), WakefulQueue()

    def answer():
        while (number := questions.get()) is not None:
            answers.put(number + 1)

    other = threading.Thread(target=answer)
    other.start()
    for turn in range(3000):
        questions.put(turn)
        assert answers.get() == turn + 1
    questions.put(None)
    other.join(timeout=600)
    assert not other.is_alive()


def test_several_readers_share_the_items():
    queue, found = WakefulQueue(), []

    def read():
        while (item := queue.get()) is not None:
            found.append(item)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for item in range(1000):
        queue.put(item)
    for _ in readers:
        queue.put(None)
    for reader in readers:
        reader.join(timeout=600)
    assert sorted(found) == list(range(1000))


def test_a_reader_that_waits_lets_other_threads_compute():
    queue = WakefulQueue()
    reader = threading.Thread(target=queue.get)
    reader.start()
    for _ in range(200):  # longer than a reader stays awake
        sum(range(1000))
    queue.put(None)
    reader.join(timeout=600)
    assert not reader.is_alive()


def test_a_reader_that_is_asleep_takes_no_processor_time():
    queue = WakefulQueue()
    reader = threading.Thread(target=queue.get)
    reader.start()
    time.sleep(LONG)
    before = time.process_time()
    time.sleep(10 * LONG)
    taken = time.process_time() - before
    queue.put(None)
    reader.join(timeout=600)
    assert taken < 2 * LONG
