"""Tasks that ask what is true now."""

from __future__ import annotations

from tests.scenarios.scenario import Chat, Scenario

CURRENT_TRUTH = (
    Scenario(
        name="ledger",
        intent="current_truth",
        task="Which port does the invoice server listen on right now?",
        reworded="Which port does the billing daemon listen on right now?",
        lead="config/server.toml",
        commits=(
            {
                "README.md": "# Ledger\n\nInvoices for small firms.\n\n"
                "The invoice server answers HTTP.\n",
                "config/server.toml": "# Where the invoice server listens\n[invoice_server]\n"
                'listen_port = 8443\nhost = "127.0.0.1"\n',
                "src/ledger/pdf.py": "def render_pdf(invoice):\n    return bytes(invoice)\n",
            },
        ),
        chats=(
            Chat(
                name="ports",
                turns=(
                    "On what port should the invoice server listen?",
                    "Port 8080 is the usual choice for an invoice server in development.",
                ),
                days_ago=60,
            ),
        ),
    ),
    Scenario(
        name="greenhouse",
        intent="current_truth",
        task="What is the current status of the sensor calibration?",
        reworded="What is the current state of the probe calibration?",
        lead="PROJECT_STATE.md",
        says="calibration",
        commits=(
            {
                "PROJECT_STATE.md": "# Project state\n\n## Sensor calibration\n\n"
                "Status: beds 1 to 4 are calibrated, bed 5 waits for a new humidity sensor.\n\n"
                "## Irrigation\n\nRuns on a timer.\n",
                "docs/hardware.md": "# Hardware\n\nEach bed has a humidity sensor and a valve.\n",
                "firmware/valve.c": "/* opens and closes the valve */\nvoid valve_open(int bed);\n",
            },
        ),
        chats=(
            Chat(
                name="calibrate",
                turns=(
                    "How do people calibrate a humidity sensor?",
                    "Dip it in a saturated salt solution at 75 percent and note the reading.",
                ),
            ),
        ),
    ),
    Scenario(
        name="courier",
        intent="current_truth",
        task="How many retries does the webhook sender make?",
        reworded="How many attempts does the webhook dispatcher make?",
        lead="courier/webhook.py",
        commits=(
            {
                "courier/webhook.py": "MAX_RETRIES = 7\n\n\ndef send_webhook(event):\n"
                '    """Send the webhook with retries."""\n'
                "    for attempt in range(MAX_RETRIES):\n        post(event)\n",
                "courier/mail.py": "def send_mail(message):\n    smtp.send(message)\n",
                "docs/old-design.md": "# Old design\n\nThe webhook sender makes three retries.\n",
            },
        ),
        deleted=("docs/old-design.md",),
    ),
    Scenario(
        name="atlas",
        intent="current_truth",
        task="What open tasks remain for the offline maps?",
        reworded="What open chores remain for the offline charts?",
        lead="TODO.md",
        says="offline maps",
        commits=(
            {
                "TODO.md": "# TODO\n\n- [ ] Cache tiles of the offline maps on first use\n"
                "- [ ] Show how large the offline maps are\n- [x] Sign the Android build\n",
                "README.md": "# Atlas\n\nHiking routes with offline maps.\n",
                "src/tiles.ts": "export function tileUrl(z: number, x: number, y: number) {}\n",
            },
        ),
    ),
    Scenario(
        name="pantry",
        intent="current_truth",
        task="Which Node version is the pantry app running on today?",
        reworded="Which Node release is the pantry program running on today?",
        lead="package.json",
        commits=(
            {
                "package.json": '{\n  "name": "pantry-app",\n  "engines": {"node": "22.x"},\n'
                '  "version": "3.1.0"\n}\n',
                "CHANGELOG.md": "# Changelog\n\n## 3.0.0\n\nThe kitchen list has a search.\n",
            },
        ),
        chats=(
            Chat(
                name="node",
                turns=(
                    "Does the pantry app still run on the Node version 18?",
                    "Yes, Node 18 is the version that the pantry app was running on.",
                ),
                days_ago=200,
            ),
        ),
    ),
    Scenario(
        name="choir",
        intent="current_truth",
        task="Is the rehearsal reminder mail enabled at the moment?",
        reworded="Is the practice reminder letter enabled at the moment?",
        lead="settings.yaml",
        commits=(
            {
                "settings.yaml": "rehearsal_reminder:\n  mail: enabled\n  hours_before: 24\n",
                "docs/guide.md": "# Guide\n\nSingers get a mail before each concert.\n",
            },
        ),
        uncommitted={
            "notes-draft.md": "The rehearsal reminder mail is disabled at the moment, I think.\n"
        },
    ),
    Scenario(
        name="lighthouse",
        intent="current_truth",
        task="What does the deploy script do after the migration step now?",
        reworded="What does the rollout script do after the upgrade step now?",
        lead="scripts/deploy.sh",
        commits=(
            {
                "scripts/deploy.sh": "#!/bin/sh\n# deploy: migration step, then warm the cache\n"
                "run_migration\nwarm_cache\nswitch_traffic\n",
                "docs/deploy-report.md": "---\ngenerated: true\n---\n\n# Deploy report\n\n"
                "The deploy script ran the migration step now and after that nothing.\n",
            },
        ),
    ),
    Scenario(
        name="birdlog",
        intent="current_truth",
        task="Where are sightings stored currently?",
        reworded="Where are observations stored currently?",
        lead="birdlog/store.go",
        commits=(
            {
                "birdlog/store.go": "// Package store: sightings are stored in SQLite.\n"
                "package store\n\nfunc SaveSighting(s Sighting) error { return nil }\n",
                "birdlog/photo.go": "package photo\n\nfunc Resize(p Photo) Photo { return p }\n",
            },
        ),
        others={
            "whales/README.md": "# Whales\n\nSightings are currently stored in a spreadsheet.\n"
        },
    ),
)
