"""What is left of a car deck, in decimetres."""

RESERVE = 8
"""Percent of the lanes that is not sold, for the ends of the lanes."""


def remaining_dm(conn, sailing_id):
    """Length that can still be sold. The caller holds the lock on the sailing's row."""
    lanes, sold = conn.execute(
        "SELECT lanes_dm, coalesce(sum(vehicle_dm), 0) FROM sailing LEFT JOIN booking"
        " ON booking.sailing_id = sailing.id WHERE sailing.id = %s GROUP BY lanes_dm",
        (sailing_id,),
    ).fetchone()
    return lanes * (100 - RESERVE) // 100 - sold
