"""Tasks that ask for both, or for neither."""

from __future__ import annotations

from tests.scenarios.scenario import Chat, Scenario

BLENDED = (
    Scenario(
        name="market",
        intent="blended",
        task="Add a voucher field to the checkout form",
        reworded="Add a coupon field to the payment form",
        lead="STATUS.md",
        says="voucher",
        commits=(
            {
                "STATUS.md": "# Status\n\n## Decisions\n\n"
                "- A checkout accepts one voucher at most.\n- The cart lives in the browser.\n",
                "src/checkout.tsx": "export function CheckoutForm() { return <form/> }\n",
            },
        ),
    ),
    Scenario(
        name="radio",
        intent="blended",
        task="Write the importer for podcast feeds",
        reworded="Write the loader for podcast channels",
        lead="docs/constraints.md",
        says="feeds",
        commits=(
            {
                "docs/constraints.md": "# Constraints\n\n- The importer must read feeds without"
                " storing the audio of a podcast.\n- Pages have no scripts.\n",
                "src/player.js": "export function play(episode) {}\n",
            },
        ),
    ),
    Scenario(
        name="clinic",
        intent="blended",
        task="Refactor the appointment scheduler",
        reworded="Refactor the booking scheduler",
        lead="scheduler",
        says="appointment",
        commits=(
            {
                "src/calendar.py": "def free_slots(day):\n    return []\n",
                "README.md": "# Clinic\n\nA calendar for a small practice.\n",
            },
        ),
        chats=(
            Chat(
                name="scheduler",
                turns=(
                    (
                        "We decided that the appointment scheduler never moves a confirmed"
                        " appointment by itself."
                    ),
                    "Then it proposes a change and waits.",
                ),
            ),
        ),
    ),
    Scenario(
        name="museum",
        intent="blended",
        task="Why does the audio guide still use MP3 files now?",
        reworded="Why does the audio tour still use MP3 recordings now?",
        lead="docs/adr/0002-audio.md",
        commits=(
            {
                "docs/adr/0002-audio.md": "# Audio files\n\n## Decision\n\nThe audio guide uses MP3"
                " files, because the loan devices play nothing else.\n",
                "devices.json": '{"audio_guide": {"format": "mp3"}}\n',
            },
        ),
    ),
    Scenario(
        name="ferry",
        intent="blended",
        task="Implement the seat reservation limit",
        reworded="Implement the place booking limit",
        lead="README.md",
        says="at most",
        commits=(
            {
                "README.md": "# Ferry\n\nTickets for a ferry.\n\n"
                "A seat reservation holds at most nine seats.\n",
                "src/boat.py": "SEATS = 220\n",
            },
        ),
        others={"train/README.md": "# Train\n\nA seat reservation has a limit of 40 seats.\n"},
    ),
    Scenario(
        name="weaver",
        intent="blended",
        task="Fix the pattern preview on phones",
        reworded="Fix the design preview on handsets",
        lead="src/preview.ts",
        commits=(
            {
                "src/preview.ts": "// pattern preview, also on phones\n"
                "export function preview() {}\n",
                "docs/yarn.md": "# Yarn\n\nThickness is given in tex.\n",
            },
        ),
    ),
    Scenario(
        name="observatory",
        intent="blended",
        task="Rename the exposure setting in the camera driver",
        reworded="Rename the shutter setting in the camera module",
        lead="HANDOFF.md",
        says="exposure",
        commits=(
            {
                "HANDOFF.md": "# Handoff\n\n"
                "We decided that the exposure setting of the camera driver is in milliseconds.\n",
                "driver/camera.c": "int set_exposure(int us);\n",
            },
            {"driver/focus.c": "int set_focus(int step);\n"},
        ),
        chats=(
            Chat(
                name="old-exposure",
                turns=(
                    (
                        "We decided that the exposure setting of the camera driver is given in"
                        " seconds."
                    ),
                    "Fine.",
                ),
                days_ago=120,
            ),
        ),
    ),
    Scenario(
        name="library",
        intent="blended",
        task="Extend the loan reminder to e-books",
        reworded="Extend the loan notice to digital books",
        lead="NOTES/TODO.md",
        says="loan reminder",
        commits=(
            {
                "NOTES/TODO.md": "# TODO\n\n"
                "Decision: the loan reminder goes out three days before the end.\n",
                "src/loan.rb": "class Loan; end\n",
            },
        ),
    ),
)
