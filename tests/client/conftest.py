from __future__ import annotations

from tests.client.fixtures import client as client
from tests.client.fixtures import daemon as daemon
from tests.client.fixtures import short as short
