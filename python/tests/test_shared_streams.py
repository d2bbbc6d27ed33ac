"""Streams of raw events that several triggers share."""

from __future__ import annotations

import asyncio
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from airflow.providers.standard.triggers.file import DirectoryFileDeleteTrigger
from svc_runtime.run.triggers import BaseEventTrigger, TriggerEvent
from svc_runtime.triggerer import shared_streams
from svc_runtime.triggerer.shared_streams import SharedStreams, StreamEnded, TooSlow


class Numbers(BaseEventTrigger):
    """Fires for the multiples of a number."""

    opened = 0
    closed = 0
    given: asyncio.Queue

    def __init__(self, factor: int, key="numbers") -> None:
        super().__init__(factor=factor, key=key)
        self.factor, self.key = factor, key

    def shared_stream_key(self):
        return self.key

    @classmethod
    async def open_shared_stream(cls, kwargs):
        Numbers.opened += 1
        try:
            while (number := await Numbers.given.get()) is not None:
                if isinstance(number, Exception):
                    raise number
                yield number
        finally:
            Numbers.closed += 1

    async def filter_shared_stream(self, shared_stream):
        async for number in shared_stream:
            if number % self.factor == 0:
                yield TriggerEvent(number)

    async def run(self):
        yield TriggerEvent("alone")


class Confirms(Numbers):
    @classmethod
    def create_shared_stream_producer(cls, kwargs):
        raise AssertionError("never called")


class SharedStreamsTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        Numbers.opened = Numbers.closed = 0
        Numbers.given = asyncio.Queue()
        self.streams = SharedStreams()

    async def waits(self, *triggers):
        """Iterators that have all subscribed, with the first event of each as a task."""
        iterators = [self.streams.events_of(trigger) for trigger in triggers]
        events = [asyncio.ensure_future(anext(iterator)) for iterator in iterators]
        await asyncio.sleep(0)
        return iterators, events

    async def test_triggers_with_the_same_key_share_one_stream_and_each_filters_it(self) -> None:
        iterators, events = await self.waits(Numbers(2), Numbers(3))
        for number in (1, 2, 3):
            Numbers.given.put_nowait(number)
        self.assertEqual([event.payload for event in await asyncio.gather(*events)], [2, 3])
        self.assertEqual(Numbers.opened, 1)
        await iterators[0].aclose()
        self.assertEqual(Numbers.closed, 0)
        Numbers.given.put_nowait(9)
        self.assertEqual((await anext(iterators[1])).payload, 9)

    async def test_triggers_with_other_keys_have_streams_of_their_own(self) -> None:
        _, events = await self.waits(Numbers(1, "a"), Numbers(1, "b"))
        while Numbers.opened < 2:
            await asyncio.sleep(0.01)
        for event in events:
            event.cancel()
        await asyncio.gather(*events, return_exceptions=True)
        while Numbers.closed < 2:
            await asyncio.sleep(0.01)

    async def test_a_trigger_without_a_key_runs_by_itself(self) -> None:
        self.assertEqual((await anext(self.streams.events_of(Numbers(2, None)))).payload, "alone")
        self.assertEqual(Numbers.opened, 0)

    async def test_a_stream_that_fails_or_ends_fails_all_its_triggers_and_the_next_trigger_opens_another(self) -> None:
        for given, error in ((ValueError("broken"), ValueError), (None, StreamEnded)):
            _, events = await self.waits(Numbers(2), Numbers(3))
            Numbers.given.put_nowait(given)
            for event in events:
                with self.assertRaises(error):
                    await event
        _, [event] = await self.waits(Numbers(2))
        Numbers.given.put_nowait(4)
        self.assertEqual((await event).payload, 4)
        self.assertEqual(Numbers.opened, 3)

    async def test_a_stream_is_closed_when_its_last_trigger_is_cancelled(self) -> None:
        _, events = await self.waits(Numbers(2), Numbers(3))
        for event in events:
            event.cancel()
        await asyncio.gather(*events, return_exceptions=True)
        while Numbers.closed == 0:
            await asyncio.sleep(0.01)
        self.assertEqual((Numbers.opened, Numbers.closed), (1, 1))

    async def test_a_trigger_that_takes_its_events_too_slowly_fails_alone(self) -> None:
        with unittest.mock.patch.object(shared_streams, "_MOST_EVENTS", 3):
            slow, fast = Numbers(1), Numbers(10)
            iterators, [first, last] = await self.waits(slow, fast)
            Numbers.given.put_nowait(1)
            await first  # and then it takes no more
            for number in range(2, 11):
                Numbers.given.put_nowait(number)
                for _ in range(10):  # the stream reads it, and the fast trigger takes it
                    await asyncio.sleep(0)
            self.assertEqual((await last).payload, 10)
            with self.assertRaises(TooSlow):
                while True:
                    await anext(iterators[0])

    async def test_a_trigger_that_confirms_events_to_a_broker_is_refused_with_a_reason(self) -> None:
        with self.assertRaisesRegex(NotImplementedError, r"create_shared_stream_producer\(\), which is not supported"):
            self.streams.events_of(Confirms(1))

    async def test_triggers_of_one_directory_share_its_scan_and_delete_only_their_own_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            triggers = [
                DirectoryFileDeleteTrigger(directory=folder, filename=name, poke_interval=0.01) for name in "ab"
            ]
            self.assertEqual(len({trigger.shared_stream_key() for trigger in triggers}), 1)
            _, events = await self.waits(*triggers)
            for name in "abc":
                Path(folder, name).touch()
            # As Airflow 3.3.2 has it.
            self.assertEqual(
                [event.payload for event in await asyncio.gather(*events)],
                [{"filepath": f"{folder}/a"}, {"filepath": f"{folder}/b"}],
            )
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["c"])

    async def test_a_directory_that_appears_later_is_waited_for_also_without_a_shared_stream(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trigger = DirectoryFileDeleteTrigger(directory=f"{folder}/new", filename="a", poke_interval=0.01)
            found = asyncio.ensure_future(anext(trigger.run()))
            await asyncio.sleep(0)
            Path(folder, "new").mkdir()
            Path(folder, "new", "a").touch()
            self.assertEqual((await found).payload, {"filepath": f"{folder}/new/a"})
            self.assertEqual(list(Path(folder, "new").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
