import pytest

from bot.workspace.mentions import with_mentions


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@K3 Triage what is this?", "<@U0000000001> what is this?"),
        ("@k3 triage: @emma says", "<@U0000000001>: <@U0000000002> says"),
        ("(@k3-triage) @k3-leads", "(<@U0000000001>) <!subteam^S0000000001>"),
        ("@김민준님, @K3 Triage에게 물어보세요", "<@U0000000003>님, <@U0000000001>에게 물어보세요"),
        ("@王伟你好", "<@U0000000004>你好"),
        ("`@K3 Triage` and\n```\n@K3 Triage\n```", "`@K3 Triage` and\n```\n@K3 Triage\n```"),
        ("a@wei.example, @weight, @wei-2, @nobody", "a@wei.example, @weight, @wei-2, @nobody"),
        ("<@U0000000001> hello", "<@U0000000001> hello"),
    ],
)
def test_typed_text_when_it_names_somebody_then_a_mention_outside_of_code(workspace, typed, sent):
    assert with_mentions(workspace, typed) == sent
