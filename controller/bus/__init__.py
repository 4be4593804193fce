"""The message bus: CURVE keys, the table's hub (feed and commands), and the clients of a table.

The only package that imports ``zmq``. ``wire``, ``feed_cursor`` and ``follower`` are pure; ``hub`` is the table's
side, ``client`` and ``async_client`` (public as ``controller.client``) are everybody else's. It knows nothing of
the game: the service may import it, the rules, the table and the journal may not.
"""
