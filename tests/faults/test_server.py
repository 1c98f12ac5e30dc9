"""The harness itself: what it starts can be killed, paused and bounded, and it says how a start failed."""

from .base import DidNotStart, FaultTest, Server, Unanswered


class TheServerUnderTest(FaultTest):
    def test_what_was_acknowledged_is_there_after_a_kill(self):
        server = self.serve()
        with server.client() as client:
            client.done("PUT", "/a/_doc/1", {"n": 1})
            server.kill()
            with self.assertRaises(Unanswered):
                client.get("/a/_doc/1")
        server.start()
        with server.client() as client:
            self.assertEqual(client.done("GET", "/a/_doc/1")["_source"], {"n": 1})
            self.check_well(server, client)

    def test_a_start_that_fails_says_why(self):
        first = self.serve()
        with self.assertRaisesRegex(DidNotStart, "lock"):
            Server(data=first.data).start()

    def test_memory_is_bounded_and_counted(self):
        group = self.memory_group(256 << 20)
        server = self.serve(group=group)
        with server.client() as client:
            self.check_well(server, client)
        self.assertGreater(group.peak_bytes(), 1 << 20)
        self.assertEqual(group.kills(), 0)
        server.kill()
