"""Tests of what the documents claim: commands, options, routes, settings, figures."""

import html
import re
from pathlib import Path

import pytest
import typer.main

from podscale import __version__, cli, contract
from podscale.analysis import words
from podscale.pod import settings
from podscale.report import answer, page
from podscale.report.tables import stage_tables
from podscale.sweep import results, verdict
from podscale.sweep.options import OWN, SCENARIOS
from podscale.sweep.reproduce import results as reproduced
from podscale.sweep.reproduce.rows import ROWS
from tests.pictures.report import SCHEMES, SCREENS

TOP = Path(__file__).parents[1]
EXAMPLE = TOP / "docs" / "example"
PICTURES = TOP / "docs" / "pictures"
README = (TOP / "README.md").read_text()
DOCUMENTS = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("loadtest/*.md")])


def names(text: str, pattern: str) -> set[str]:
    """All matches of `pattern` in the code of a document: in fences and between backticks."""
    code = "\n".join(re.findall(r"```.*?```|`[^`]+`|^    .*$", text, re.DOTALL | re.MULTILINE))
    return set(re.findall(pattern, code))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(TOP)))
def test_every_make_target_that_is_named_exists(document: Path) -> None:
    """`make something` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))
    assert names(document.read_text(), r"\bmake ([a-z-]+)") <= targets


def test_every_make_target_is_explained_by_help() -> None:
    """`make help` lists all targets that a person may call."""
    makefile = (TOP / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))


def test_every_flag_that_the_readme_names_is_one() -> None:
    """Flags in README.md belong to the commands, and every command is mentioned."""
    command = typer.main.get_command(cli.app)
    verbs = command.commands  # type: ignore[attr-defined]  # a group, since there are several
    flags = {flag for verb in verbs.values() for parameter in verb.params for flag in parameter.opts}
    ours = re.sub(r"^(docker|kind|kubectl|helm) .*$", "", README, flags=re.MULTILINE)
    # uvicorn's own, named as what podscale is the counterpart of.
    assert names(ours, r"(--[a-z][a-z0-9-]+)") - flags <= {"--help", "--workers"}
    for verb in verbs:
        assert f"podscale {verb}" in README


def test_every_route_and_scenario_is_described() -> None:
    """Routes of both ports stand in README.md, and each scenario in the load's own page."""
    routes = [contract.BLOCKING, contract.WORKER, contract.PRIMES, contract.PRIME, contract.TIMESTAMP]
    for route in [*routes, contract.LIVE, contract.READY, contract.METRICS]:
        assert route in README
    load = (TOP / "loadtest" / "README.md").read_text()
    for scenario in SCENARIOS:
        assert scenario == OWN or f"`{scenario}.py`" in load


def test_every_row_of_the_articles_can_be_tried_by_hand() -> None:
    """A line for Locust's page with a locustfile that exists, and one for each of the other generators."""
    load = (TOP / "loadtest" / "README.md").read_text()
    by_hand, others = load[load.index("## The articles' systems by hand") :].split("Other generators", 1)
    for name in ROWS:
        (line,) = re.findall(rf"^\| {name} \| `locust \$P/(\w+)\.py .*$", by_hand, re.MULTILINE)
        assert (TOP / "loadtest" / f"{line}.py").is_file()
        assert re.search(rf"^\| [^|]*\b{name}\b", others, re.MULTILINE), name
    for generator in ("ab", "wrk", "autocannon"):
        assert f"`{generator} -" in others


def test_every_setting_that_a_document_names_exists() -> None:
    """A PODSCALE_ name in a document is a row of the pod's settings."""
    known = {row.variable for row in settings.TABLE}
    for document in DOCUMENTS:
        assert set(re.findall(r"PODSCALE_[A-Z_]+", document.read_text())) <= known


def test_the_example_in_the_readme_is_a_real_result() -> None:
    """The sentence and the conditions under the pictures are those of the result that lies beside them."""
    result = results.load(EXAMPLE)
    assert result.advice is not None
    assert result.advice.verified
    text = " ".join(README.replace("> ", "").split())
    assert result.advice.sentence in text
    assert str(result.environment["cpu_model"]) in text
    assert f"{result.environment['cores']} cores" in text
    for picture in ("scaling.png", "latency.png"):
        assert (EXAMPLE / picture).read_bytes().startswith(b"\x89PNG")
        assert f"docs/example/{picture}" in README


def test_the_cluster_figures_in_the_readme_are_those_of_the_kept_run() -> None:
    """Scaling of four pods, and their tail beside that of four workers, as docs/articles has them."""
    run = reproduced.load(TOP / "docs" / "articles" / "cluster")
    pods = next(row for row in run.rows if row.row == "pods")
    assert f"{words.number(pods.ratio or 0)} times as much as one" in " ".join(README.split())
    for step, figure in (("n pods at 60 %", "was {}, where"), ("n workers at 60 %", "had {}:")):
        p99 = pods.measured[step]["p99"]
        assert p99 is not None
        assert figure.format(words.milliseconds(p99)) in " ".join(README.split())
    assert (run.n, run.asked["base"]["cpu_cores"]) == (4, 0.25)


def test_the_pictures_are_small_and_ask_nothing_of_the_network() -> None:
    """Each is shown in README.md; the one that is drawn loads nothing, and has the text that lies beside it."""
    pictures = sorted([*PICTURES.glob("*.svg"), *PICTURES.glob("*.png")])
    assert len(pictures) >= 2
    for picture in pictures:
        assert f"]({picture.relative_to(TOP)})" in README
        assert picture.stat().st_size < 300_000
    drawn, text = (PICTURES / "watch.svg").read_text(), (PICTURES / "watch.txt").read_text()
    assert re.findall(r"url\(\W*http|href|@import|@font-face|<script", drawn) == []
    assert set(text.split()) <= set(html.unescape(" ".join(re.findall(r">([^<]+)</text>", drawn))).split())


def test_the_version_stands_in_one_place_and_in_the_changelog() -> None:
    """CHANGELOG.md begins with the version of the package."""
    newest = re.search(r"^## (\S+)", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_links_between_documents_lead_somewhere() -> None:
    """A relative link or picture names a file that exists."""
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_no_lock_names_a_host() -> None:
    """Locks carry versions and hashes, no address of a registry."""
    for lock in (TOP / "requirements").glob("*.txt"):
        assert "://" not in lock.read_text()
        assert "--hash=sha256:" in lock.read_text()


def test_every_verdict_is_explained() -> None:
    """docs/report.md has a line for each rule, and says which of them void a stage."""
    rows = re.findall(r"^\| (`.*`) \| (yes)? ?\|", (TOP / "docs" / "report.md").read_text(), re.MULTILINE)
    told = {name.strip("` "): bool(voids) for names, voids in rows for name in names.split(",")}
    assert told == {rule.code.replace("_", " "): rule.voids for rule in verdict.RULES}


def test_every_section_of_the_report_is_explained() -> None:
    """docs/report.md names each card and each chart of the page as the page does."""
    told = (TOP / "docs" / "report.md").read_text()
    result = results.load(EXAMPLE)
    headings = [text.heading for text in page.TEXTS.values()]
    for name in [*(card.label for card in answer.cards(result)), *headings, *(t.title for t in stage_tables(result))]:
        assert re.search(rf"^\|[^|]*\b{name}\b[^|]*\|", told, re.MULTILINE), name


def test_the_pictures_of_the_report_are_those_that_are_made() -> None:
    """Each width in each scheme, small, as wide as it says, and linked."""
    told = (TOP / "docs" / "report.md").read_text()
    for width in SCREENS:
        for scheme in SCHEMES:
            picture = TOP / "docs" / "pictures" / f"report-{width}-{scheme}.png"
            assert int.from_bytes(picture.read_bytes()[16:20]) == width
            assert picture.stat().st_size < 300_000
            assert f"](pictures/{picture.name})" in told
