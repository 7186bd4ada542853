"""Small generated webs of pages about topics, with truth."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

TOPICS = ("music", "birds", "trains", "cheese")
COMMON = [f"common{number}" for number in range(60)]


def words_of(topic: str) -> list[str]:
    """The vocabulary of a topic."""
    return [f"{topic}{number}" for number in range(40)]


@dataclass
class TopicalWeb:
    """Pages with a topic each; names, texts and links."""

    topic: dict[str, str] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the pages, and beside them `topics.tsv`, which is returned."""
        folder.mkdir(parents=True)
        for name, text in self.text.items():
            items = "".join(
                f'<li><a href="{to}.html">{title_of(to)}</a></li>' for to in self.links[name]
            )
            html = f"<title>{title_of(name)}</title><p>{text}</p><ul>{items}</ul>"
            (folder / f"{name}.html").write_text(html, encoding="utf-8")
        topics = folder.parent / "topics.tsv"
        lines = [f"{name}\tkind.{topic}.all\n" for name, topic in self.topic.items()]
        topics.write_text("# page, topic\n" + "".join(lines), encoding="utf-8")
        return topics


def title_of(name: str) -> str:
    """`music0_7`: the title has a word of the topic, as a good anchor text has."""
    return f"About {name.split('_', maxsplit=1)[0]}"


def topical_web(seed: int = 1, pages: int = 60, topics: tuple[str, ...] = TOPICS) -> TopicalWeb:
    """`pages` of each topic. Two of three links stay in the topic."""
    draw = random.Random(seed)
    web = TopicalWeb()
    names = {
        topic: [f"{draw.choice(words_of(topic))}_{number}" for number in range(pages)]
        for topic in topics
    }
    everything = [name for some in names.values() for name in some]
    for topic, own in names.items():
        for name in own:
            words = draw.choices(words_of(topic), k=25) + draw.choices(COMMON, k=40)
            # As on real pages, some words stand nowhere else; otherwise it looks like a trap.
            letters = [chr(97 + draw.randrange(26)) for _ in range(60)]
            words += ["".join(letters[at : at + 6]) for at in range(0, 60, 6)]
            web.topic[name] = topic
            web.text[name] = " ".join(words)
            near = draw.sample(own, 4)
            far = draw.sample(everything, 2)
            web.links[name] = [to for to in dict.fromkeys(near + far) if to != name]
    return web
