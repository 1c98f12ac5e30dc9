"""What the modules of a crate import from each other, read from the text of its files."""

import pathlib
import re

COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'(?!\w)""", re.S
)
TEST_ONLY = r"#\[cfg\((?:all\()?test\b[^\]]*\]"
TEST_FILE = re.compile(TEST_ONLY + r"\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
USE = re.compile(r"(?m)^\s*(?P<public>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);")
PATH = re.compile(r"(?<![\w:$])(?:crate|self|super)(?:\s*::\s*\w+)+")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def end_of_item(text, start):
    """Where an item ends: behind its `;`, or behind the brace that closes its body."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == ";" and depth == 0:
            return at + 1
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "}" and depth == 0:
            return at + 1
    return len(text)


def tests_of(text):
    """Where items are that only tests have, in a text without comments."""
    for test in re.finditer(TEST_ONLY, text):
        yield test.start(), end_of_item(text, test.end())


def code_and_texts(text):
    """The code of a file, without items that only tests have and without what is no code; and the texts in it, as they
    are written."""
    code = COMMENT_OR_TEXT.sub(blank, text)
    tests = list(tests_of(code))
    texts = [
        found[0]
        for found in COMMENT_OR_TEXT.finditer(text)
        if found[0][0] in '"br' and not any(start <= found.start() < end for start, end in tests)
    ]
    for start, end in reversed(tests):
        code = code[:start] + re.sub(r"[^\n]", " ", code[start:end]) + code[end:]
    return code, texts


def paths(tree):
    """The paths of a `use` tree, as tuples, each with the name that it is bound to."""
    tree = tree.strip()
    group = re.fullmatch(r"(.*?)\{(.*)\}", tree, re.S)
    if not group:
        path, _, alias = re.sub(r"\s+", " ", tree).partition(" as ")
        parts = tuple(part.strip() for part in path.split("::") if part.strip())
        return [(parts, alias or parts[-1])]
    prefix = tuple(part.strip() for part in group[1].split("::") if part.strip())
    found, depth, item = [], 0, ""
    for sign in group[2] + ",":
        if sign == "," and depth == 0:
            for path, name in paths(item) if item.strip() else []:
                inner = () if path == ("self",) else path
                found.append((prefix + inner, prefix[-1] if path == ("self",) else name))
            item = ""
            continue
        depth += {"{": 1, "}": -1}.get(sign, 0)
        item += sign
    return found


class Crate:
    """The modules of a crate, by their paths; tests are left out."""

    def __init__(self, source):
        self.code, self.texts, self.exported, self.globs = {}, {}, {}, {}
        files, tests = {}, set()
        for file in pathlib.Path(source).rglob("*.rs"):
            module = file.relative_to(source).with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib", "main") else module
            files[module] = file.read_text()
            for name in TEST_FILE.findall(files[module]):
                tests.add(module + (name,))
        for module, text in files.items():
            if not any(module[:depth] in tests for depth in range(1, len(module) + 1)):
                self.code[module], self.texts[module] = code_and_texts(text)
        for module, code in self.code.items():
            uses = (use for use in USE.finditer(code) if use["public"])
            exported = [(name, path) for use in uses for path, name in paths(use["tree"])]
            self.exported[module] = {name: path for name, path in exported if name != "*"}
            self.globs[module] = [path[:-1] for name, path in exported if name == "*"]

    def home(self, module, path, depth=0):
        """The module that what a path means is defined in; `None` outside this crate."""
        at, rest = module, list(path)
        if rest[0] == "crate":
            at, rest = (), rest[1:]
        elif rest[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                at = at[:-1] if rest[0] == "super" else at
                rest = rest[1:]
        elif module + (rest[0],) not in self.code:
            return None
        while rest and at + (rest[0],) in self.code:
            at, rest = at + (rest[0],), rest[1:]
        through = self.export(at, rest[0], depth) if rest and rest[0] != "*" and depth < 10 else None
        return (self.home(at, through, depth + 1) or at) if through else at

    def export(self, module, name, depth):
        """The path by which a module exports what another one defines, by its name or with all that is there."""
        if name in self.exported.get(module, {}):
            return self.exported[module][name]
        item = rf"(?m)^\s*pub(?:\([^)]*\))?\s+(?:struct|enum|union|trait|type|fn|const|static|mod)\s+{name}\b"
        for path in self.globs.get(module, []):
            target = self.home(module, path, depth + 1)
            if target and (re.search(item, self.code[target]) or self.export(target, name, depth + 1)):
                return path + (name,)
        return None

    def imports(self):
        """Yields what imports what: two modules and the path."""
        for module, code in self.code.items():
            for use in USE.finditer(code):
                for path, _ in paths(use["tree"]):
                    yield module, self.home(module, path), path
            for path in PATH.findall(USE.sub(blank, code)):
                parts = tuple(re.split(r"\s*::\s*", path))
                yield module, self.home(module, parts), parts

    def rooms(self):
        """The modules at the top, in the order of the crate's front page."""
        return re.findall(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", self.code[()])
