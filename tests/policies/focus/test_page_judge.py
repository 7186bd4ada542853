"""The judge knows a topic from examples, a query or marks, and what is ordinary from pages."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gossamer.policies.focus.judge import RELEVANT, PageJudge
from gossamer.policies.focus.sample import PageSample, WordTable
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import WordHasher, Words
from support.topical_webs import COMMON, TOPICS, words_of

HASHER = WordHasher()


def page(topic: str, seed: int) -> Words:
    draw = random.Random(f"{topic}{seed}")
    words = draw.choices(words_of(topic), k=25) + draw.choices(COMMON, k=40)
    return HASHER.page("", " ".join(words))


def trained(judge: PageJudge, pages: list[Words]) -> PageJudge:
    before = np.full(len(pages), 0.0)
    for words in pages:
        judge.see(words)
    for _ in range(3):
        before = judge.fit(WordTable(pages), before)
    return judge


SEEN = [page(topic, 100 + number) for topic in TOPICS for number in range(20)]


def test_ten_examples_tell_their_topic_from_others() -> None:
    judge = trained(PageJudge(Topic([page("music", number) for number in range(10)])), SEEN)

    wanted = [judge.relevance(page("music", 200 + number)) for number in range(20)]
    others = [judge.relevance(page("birds", 200 + number)) for number in range(20)]

    assert min(wanted) > RELEVANT > max(others)


@pytest.mark.parametrize("many", [1, 2, 3])
def test_a_few_examples_are_enough(many: int) -> None:
    judge = trained(PageJudge(Topic([page("music", number) for number in range(many)])), SEEN)

    wanted = [judge.relevance(page("music", 200 + number)) for number in range(20)]
    others = [judge.relevance(page("birds", 200 + number)) for number in range(20)]

    assert np.mean(wanted) > RELEVANT > np.mean(others)


def test_a_query_is_a_topic() -> None:
    query = HASHER.page("", "music1 music2 music3")
    judge = trained(PageJudge(Topic(query=query)), SEEN)

    wanted = [judge.relevance(page("music", 200 + number)) for number in range(20)]
    others = [judge.relevance(page("birds", 200 + number)) for number in range(20)]

    assert np.mean(wanted) > RELEVANT > max(others)


def test_a_mark_against_a_page_lowers_pages_like_it() -> None:
    examples = [page("music", number) for number in range(3)] + [page("birds", 1)]
    plain, marked = PageJudge(Topic(list(examples))), PageJudge(Topic(list(examples)))
    for number in range(5):
        marked.topic.mark(page("birds", 10 + number), is_wanted=False)
    new = page("birds", 300)

    assert trained(marked, SEEN).relevance(new) < trained(plain, SEEN).relevance(new)


def test_a_mark_for_a_page_raises_pages_like_it() -> None:
    topic = Topic([page("music", number) for number in range(3)])
    judge = trained(PageJudge(topic), SEEN)
    before = judge.relevance(page("trains", 300))
    for number in range(5):
        topic.mark(page("trains", 10 + number), is_wanted=True)

    assert trained(judge, SEEN).relevance(page("trains", 300)) > before


def test_a_page_without_words_is_not_relevant() -> None:
    judge = PageJudge(Topic([page("music", 1)]))

    assert judge.relevance(HASHER.page("", "")) == 0.0


def test_the_sample_is_bounded_and_every_page_has_the_same_chance() -> None:
    kept = np.zeros(100)
    for seed in range(300):
        sample = PageSample(most=10, seed=seed)
        for slot in range(100):
            sample.offer(slot, SEEN[0], 0.5)
        assert len(sample.slots) == len(sample.words) == len(sample.relevance) == 10
        kept[sample.slots] += 1

    assert kept[:50].sum() == pytest.approx(kept[50:].sum(), rel=0.1)
