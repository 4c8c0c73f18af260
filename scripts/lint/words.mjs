// Plain technical English (CONTRIBUTING.md, "Language"). The linter checks comments, test titles and type names of one
// file; `node scripts/lint/words.mjs` checks documentation pages and type names that are declared twice in a package.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Maximum number of indirect phrases in the comments, or in the test titles, of one file. */
const MAX_PHRASES_PER_FILE = 4;
/** Maximum number of indirect phrases in 1,000 words of a page. */
const MAX_PHRASES_PER_PAGE = 5;
const MAX_DUPLICATE_TYPES = 10;

/** Words that hide the component that acts, or that mean something else in the field. */
const INDIRECT = new RegExp(
  String.raw`\b(?:${[
    "who(?:ever|se)",
    "whatever",
    "(?:some|no|every)body",
    "(?:is|are|was|were|be) told",
    "what (?:is|was|it) (?:said|asked|told|wanted)",
    "of (?:its|their) own accord",
    "(?:is|are|was|were|has|have) gone",
    "by (?:then|now)",
    "once more",
    "all the same",
    "as far as",
    "for ever",
    "by the letter",
    "elsewhere",
    "ought",
    "mended",
    "stands? (?:in|beside|there)",
  ].join("|")})\b`,
  "gi",
);
const QUESTION_OPENING = /^(?:What|Who|Whose|Whether|Of)\b/;
/** Matches a name that is one regular past participle, such as `Asked` or `Parsed`. */
const REGULAR_PARTICIPLE = /^[A-Z][a-z]*[^e]ed$/;
const IRREGULAR_PARTICIPLES =
  /^(?:Told|Said|Sent|Held|Kept|Known|Made|Put|Read|Seen|Shown|Taken|Given|Written|Found|Handed|Proven|Heard|Spoken|Drawn|Gone|Left|Lost|Meant|Chosen|Built)$/;
const PRONOUN = /^(?:Who|Whose|What|Which|One|Any|Some)$/;
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

export const isParticiple = (name) =>
  REGULAR_PARTICIPLE.test(name) || IRREGULAR_PARTICIPLES.test(name) || PRONOUN.test(name);
export const opensWithQuestion = (comment) => QUESTION_OPENING.test(comment.replace(/^[*\s/]+/, ""));
export const indirectPhrases = (text) => text.replaceAll(/`[^`]*`|"[^"]*"/g, "").match(INDIRECT) ?? [];

export const plainWords = {
  create(context) {
    const titles = [];
    return {
      Program() {
        const comments = context.sourceCode.getAllComments().filter(({ type }) => type !== "Shebang");
        for (const comment of firstOfEachBlock(comments))
          if (opensWithQuestion(comment.value))
            context.report({
              node: comment,
              message: "A comment opens with a noun or a verb, not with a question word.",
            });
        reportPhrases(
          context,
          comments.map((node) => ({ node, text: node.value })),
          "comments",
        );
      },
      CallExpression(node) {
        const title = titleOf(node);
        if (title !== undefined) titles.push({ node, text: title });
      },
      "Program:exit"() {
        reportPhrases(context, titles, "test titles");
      },
      TSInterfaceDeclaration: ({ id }) => reportName(context, id),
      TSTypeAliasDeclaration: ({ id }) => reportName(context, id),
      ClassDeclaration: ({ id }) => id && reportName(context, id),
    };
  },
};

/**
 * Returns the first comment of each block of line comments, because a sentence that is wrapped over several comments
 * begins there.
 */
function firstOfEachBlock(comments) {
  return comments.filter((comment, at) => {
    const previous = comments[at - 1];
    const continues = comment.type === "Line" && previous?.type === "Line";
    return !(continues && previous.loc.end.line === comment.loc.start.line - 1);
  });
}

function titleOf({ callee, arguments: [title] }) {
  let called = callee;
  while (called.type === "MemberExpression" || called.type === "CallExpression")
    called = called.object ?? called.callee;
  if (called.type !== "Identifier" || !/^(?:test|it|describe)$/.test(called.name)) return undefined;
  if (title?.type === "Literal" && typeof title.value === "string") return title.value;
  return title?.type === "TemplateLiteral" ? title.quasis.map(({ value }) => value.raw).join("…") : undefined;
}

function reportPhrases(context, texts, kind) {
  const found = texts.flatMap(({ node, text }) => indirectPhrases(text).map((phrase) => ({ node, phrase })));
  if (found.length <= MAX_PHRASES_PER_FILE) return;
  const phrases = found.map(({ phrase }) => phrase).join(", ");
  context.report({
    node: found[0].node,
    message:
      `${found.length} indirect phrases in ${kind} (${phrases}); ${MAX_PHRASES_PER_FILE} are allowed in a file. ` +
      "Name the component that acts.",
  });
}

function reportName(context, id) {
  if (isParticiple(id.name))
    context.report({ node: id, message: `A type's name is a noun; \`${id.name}\` is a participle or a pronoun.` });
}

function check() {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  const problems = [...pageProblems(tracked), ...duplicateTypes(tracked)];
  for (const problem of problems) console.log(problem);
  console.log(`${problems.length} problems of language`);
  return problems.length === 0;
}

function* pageProblems(tracked) {
  for (const file of tracked.filter((path) => path.endsWith(".md") && !path.startsWith("test/fixtures/"))) {
    const text = readFileSync(join(root, file), "utf8").replaceAll(/```[^]*?```/g, "");
    const words = Math.max(1000, text.match(/[A-Za-z']+/g)?.length ?? 0);
    const found = indirectPhrases(text);
    if ((1000 * found.length) / words > MAX_PHRASES_PER_PAGE)
      yield `${file}: ${found.length} indirect phrases (${[...new Set(found)].join(", ")})`;
  }
}

/** A blank or `<` must follow the name, as in TypeScript. The text of a generated Python class is no declaration. */
const TYPE_DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)(?=[\s<])/gm;

/**
 * Returns type names that are declared in more than one file of a package. `Options` is omitted, because it is the
 * schema type of each part.
 */
function duplicateTypes(tracked) {
  const files = new Map();
  for (const path of tracked.filter((file) => /^packages\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file))) {
    for (const [, name] of readFileSync(join(root, path), "utf8").matchAll(TYPE_DECLARATION)) {
      const key = `${path.split("/")[1]} ${name}`;
      files.set(key, [...(files.get(key) ?? []), path]);
    }
  }
  const twice = [...files].filter(([key, paths]) => new Set(paths).size > 1 && !key.endsWith(" Options"));
  if (twice.length <= MAX_DUPLICATE_TYPES) return [];
  return twice.map(([key, paths]) => `${key} is declared in ${[...new Set(paths)].join(" and ")}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(check() ? 0 : 1);
