"""Training data of the table: pairs of a short and a long text with one meaning, each with its group."""

import io
import json
import re
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = ("fr", "de")
MAX_CHARS = 400
# Excludes the many kinds of animals, plants and people, because no query for a tool uses them.
SKIPPED_LEXICONS = ("animal", "plant", "person", "body", "adj.ppl", "substance", "shape")


@dataclass
class Texts:
    pairs: list = field(default_factory=list)
    """`(short, long, group)`; pairs of a group are told apart in one batch."""
    foreign: dict = field(default_factory=lambda: {language: [] for language in LANGUAGES})

    def add(self, short, long, group=""):
        short, long = short.strip()[:MAX_CHARS], long.strip()[:MAX_CHARS]
        if short and long and short != long:
            self.pairs.append((short, long, group))


def read_texts(sources, mirrors):
    texts = Texts()
    read_words(texts, Path(__file__).with_name("words.tsv"))
    for name, reader in READERS.items():
        reader(texts, lambda *paths, name=name: files_of(mirrors, sources[name], paths))
    return texts


def read_words(texts, path):
    """Returns our own word list: English, French, German. All words of a row have the same meaning."""
    for line in path.read_text(encoding="utf-8").splitlines():
        english, *others = line.split("\t")
        for language, cell in zip(LANGUAGES, others, strict=True):
            for one in cell.split(", "):
                # Each text is repeated, because a vocabulary contains only words that occur more than twice.
                texts.foreign[language] += [one] * 3
                for word in english.split(", "):
                    texts.add(one, word, f"words {language}")


def files_of(mirrors, source, paths):
    """Yields `(path, text)` of the source's files at its commit, sorted by path."""
    folder = mirrors / source["repository"].replace("/", "+") / "repo"
    command = ["git", f"--git-dir={folder}", "archive", source["commit"], "--", *paths]
    data = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = sorted((one for one in archive.getmembers() if one.isfile()), key=lambda one: one.name)
        for member in members:
            yield member.name, archive.extractfile(member).read().decode("utf-8", "replace")


def read_wordnet(texts, files):
    for path, text in files("src/yaml"):
        name = path.rsplit("/", 1)[-1]
        if name.startswith(("entries", "frames")) or any(one in name for one in SKIPPED_LEXICONS):
            continue
        for synset in re.split(r"^(?=\d{8}-)", text, flags=re.M)[1:]:
            members = [one.replace("_", " ") for one in list_of(synset, "members")]
            glosses = list_of(synset, "definition")
            if not members or not glosses or members[0][:1].isupper():
                continue
            for member in members[:3]:
                texts.add(member, glosses[0])
            if len(members) > 1:
                texts.add(members[0], members[1])
            if name.startswith("verb"):
                for example in list_of(synset, "example")[:1]:
                    texts.add(example, glosses[0])


def list_of(synset, key):
    match = re.search(rf"^  {key}:\n((?:  - .*\n(?:    .*\n)*)+)", synset + "\n", re.M)
    if not match:
        return []
    found = re.findall(r"^  - (.*(?:\n    .*)*)", match.group(1), re.M)
    return [re.sub(r"\s+", " ", one).strip("'\" ") for one in found]


def read_tldr(texts, files):
    pages = {}
    for path, text in files("pages", *(f"pages.{language}" for language in LANGUAGES)):
        root, page = path.split("/", 1)
        if page.endswith(".md"):
            pages[root.partition(".")[2], page] = examples_of(text)
    for (language, page), (title, about, examples) in pages.items():
        if language == "":
            texts.add(title, about, "tldr")
            for command, said in examples.items():
                texts.add(f"{title} {said}", f"{about} {said}", page)
            continue
        read_translation(texts, language, (about, examples), pages.get(("", page)))


def read_translation(texts, language, own, english):
    about, examples = own
    if english is None:
        return
    texts.foreign[language] += [about, *examples.values()]
    if about != english[1]:
        texts.add(about, english[1], f"tldr {language}")
    for command, said in examples.items():
        there = english[2].get(command)
        if there is not None and there != said:
            texts.add(said, there, f"tldr {language}")


def examples_of(page):
    """Yields the title, the first sentence, and the description of each example with the skeleton of its command."""
    title = page[2 : page.find("\n")].strip()
    about = " ".join(re.findall(r"^> (?!.*<http)(?!.*`)(.*)$", page, re.M)[:1])
    examples = {}
    for said, command in re.findall(r"^- (.*?):?\s*\n\n`(.*)`$", page, re.M):
        skeleton = re.sub(r"\{\{.*?\}\}", "{}", command)
        examples.setdefault(skeleton, re.sub(r"[`\[\]]", "", said).strip(" :\u00a0"))
    return title, about, examples


def read_botocore(texts, files):
    latest = {}
    for path, text in files("botocore/data"):
        if path.endswith("/service-2.json"):
            latest[path.split("/")[2]] = text
    for service, text in latest.items():
        for name, operation in json.loads(text)["operations"].items():
            about = first_sentence(re.sub(r"<[^>]+>", " ", operation.get("documentation", "")))
            texts.add(name, about, f"aws {service}")


def first_sentence(text):
    plain = re.sub(r"\[([^\]]*)\]\[[^\]]*\]", r"\1", re.sub(r"\s+", " ", text)).strip()
    return re.split(r"(?<=[.!?]) ", plain, maxsplit=1)[0]


READERS = {
    "wordnet": read_wordnet,
    "tldr": read_tldr,
    "botocore": read_botocore,
}


def read_tools(texts, folder, without=""):
    """Returns the benchmark's tools and queries. `without` excludes a source of queries and the servers of its
    tools; `all` excludes every query and the servers of all tools that queries look for."""
    tools = {one["id"]: one for one in lines_of(folder / "tools.jsonl")}
    queries = lines_of(folder / "queries.dev.jsonl")
    unused = [query for query in queries if without in ("all", query["source"])]
    left_out = {tools[gold]["server"] for query in unused for gold in query["gold"]}
    for tool in tools.values():
        if tool["server"] in left_out:
            continue
        group = f"{tool['catalog']} {tool['server']}"
        about = tool.get("description") or ""
        texts.add(tool["name"], about, group)
        texts.add(f"{tool['server']} {tool['name']}", about, group)
        for name, schema in list((tool.get("inputSchema") or {}).get("properties", {}).items())[:4]:
            if isinstance(schema, dict) and isinstance(schema.get("description"), str):
                texts.add(f"{tool['name']} {name}", schema["description"], "parameters")
    for query in queries:
        for gold in query["gold"] if query not in unused else ():
            tool = tools[gold]
            if tool["server"] not in left_out:
                texts.add(query["query"], text_of(tool), f"queries {query['source']}")


def text_of(tool):
    return f"{tool['server']} {tool['name']}. {first_sentence(tool.get('description') or '')}"


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
