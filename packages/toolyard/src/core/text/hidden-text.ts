/**
 * Characters that a user does not see and a model reads: characters without a width (joiners, variation selectors,
 * direction marks, tag letters, fillers, all default-ignorable characters), and the anchors of interlinear annotations.
 * JSON text contains the first 32 control characters as escapes, which `MAYBE_HIDDEN` matches.
 */
const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}\ufff9-\ufffb`;
/**
 * Control characters of both sets (C0, C1), which a terminal executes, except tab and line breaks. Includes the line
 * and paragraph separators, which only some programs treat as a line end.
 */
const CONTROL = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029`;
/** Characters of `CONTROL` that represent a line break. */
const LINE_BREAKS: ReadonlySet<string> = new Set(["\u0085", "\u2028", "\u2029"]);
const CONTROL_CHARACTER = new RegExp(`[${CONTROL}]`);
/**
 * Maximum number of combining marks on one letter. No script needs more, and hundreds of marks cover the lines above
 * and below.
 */
const MAX_MARKS = 10;
const FLOOD = new RegExp(String.raw`(\p{M}{${MAX_MARKS}})\p{M}+`, "gu");
const HAS_FLOOD = new RegExp(String.raw`\p{M}{${MAX_MARKS + 1}}`, "u");
const HIDDEN = new RegExp(`[${INVISIBLE}${CONTROL}]`, "gu");
const INVISIBLE_CHARACTER = new RegExp(`[${INVISIBLE}]`, "gu");
/**
 * Matches texts that need no further test: printable ASCII, tabs and line breaks. Most names and texts are of this
 * kind.
 */
const PLAIN = /^[\t\n\r -~]*$/;
/** Matches every text that `MAYBE_HIDDEN` matches, and all texts beyond ASCII. */
const MAYBE_HIDDEN_OR_BEYOND_ASCII = /[^\0-~]|\\u00[01]|\\[bf]/;
/**
 * Matches every text with hidden characters, and some other texts. V8 takes milliseconds to compile it, for the first
 * text beyond ASCII.
 */
const MAYBE_HIDDEN = new RegExp(
  String.raw`\\u00[01]|\\[bf]|[\u007f-\u009f\u2028\u2029${INVISIBLE}]|\p{M}{${MAX_MARKS + 1}}`,
  "u",
);

const JOINERS: ReadonlySet<string> = new Set(["\u200c", "\u200d"]);
const ZERO_WIDTH_JOINER = "\u200d";
/** Selectors of the plain or the coloured form of the preceding character (VS15, VS16). */
const EMOJI_SELECTORS: ReadonlySet<string> = new Set(["\ufe0e", "\ufe0f"]);
const KEYCAP = "\u20e3";
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u;
const SKIN_TONE = /^\p{Emoji_Modifier}$/u;
/** Scripts whose letters change their form next to a joiner. */
const JOINED_SCRIPTS = [
  ..."Arabic Syriac Mandaic Nko Mongolian Thaana Adlam Hanifi_Rohingya".split(" "),
  ..."Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala".split(" "),
  ..."Khmer Myanmar Tibetan Balinese Javanese Sundanese Lao Thai Limbu Meetei_Mayek Newa Grantha Tirhuta".split(" "),
];
/** Compiled when the first joiner is found, since the classes of these scripts are slow to compile. */
let joinedLetter: RegExp | undefined;

function isJoinedLetter(character: string): boolean {
  joinedLetter ??= new RegExp(
    `^(?=[\\p{L}\\p{M}])[${JOINED_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join("")}]$`,
    "u",
  );
  return joinedLetter.test(character);
}

/**
 * Returns prose without invisible and control characters, and without excessive combining marks. Keeps characters that
 * emoji and some scripts need; line separators become line breaks.
 */
export function withoutHidden(text: string): string {
  if (PLAIN.test(text)) return text;
  const visible = text.replaceAll(HIDDEN, (character, at: number) => {
    if (LINE_BREAKS.has(character)) return "\n";
    return isNeeded(text, at, character) ? character : "";
  });
  return visible.replaceAll(FLOOD, "$1");
}

/**
 * Returns true if data contains characters that are removed from prose: invisible or control characters, or excessive
 * marks.
 */
export function holdsHidden(text: string): boolean {
  if (PLAIN.test(text)) return false;
  return CONTROL_CHARACTER.test(text) || HAS_FLOOD.test(text) || holdsInvisible(text);
}

/**
 * Returns true if a text contains characters without a width that neither emoji nor letters need. Control characters do
 * not count.
 */
export function holdsInvisible(text: string): boolean {
  if (PLAIN.test(text)) return false;
  for (const { 0: character, index } of text.matchAll(INVISIBLE_CHARACTER))
    if (!isNeeded(text, index, character)) return true;
  return false;
}

/**
 * Returns true if a value in this JSON text may contain hidden characters. For almost all texts, one scan is
 * sufficient.
 */
export function mayHoldHidden(json: string): boolean {
  return MAYBE_HIDDEN_OR_BEYOND_ASCII.test(json) && MAYBE_HIDDEN.test(json);
}

function isNeeded(text: string, at: number, character: string): boolean {
  if (EMOJI_SELECTORS.has(character)) {
    const before = characterBefore(text, at);
    return PICTOGRAPH.test(before) || (/^[0-9#*]$/.test(before) && text[at + 1] === KEYCAP);
  }
  if (!JOINERS.has(character)) return false;
  const after = characterAt(text, at + 1);
  if (character === ZERO_WIDTH_JOINER && PICTOGRAPH.test(after) && endsEmoji(text, at)) return true;
  return isJoinedLetter(after) && isJoinedLetter(characterBefore(text, at));
}

/** Returns true if an emoji ends at this position, including its variant and skin tone. */
function endsEmoji(text: string, end: number): boolean {
  let at = end;
  let character = characterBefore(text, at);
  while (
    character !== "" &&
    (EMOJI_SELECTORS.has(character) || SKIN_TONE.test(character)) &&
    end - at < MAX_EMOJI_TAIL
  ) {
    at -= character.length;
    character = characterBefore(text, at);
  }
  return PICTOGRAPH.test(character);
}

/** Maximum number of code units after a pictograph that belong to the same emoji: one skin tone and one selector. */
const MAX_EMOJI_TAIL = 3;

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  const isPair = at >= 2 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 2, at));
  return text.slice(isPair ? at - 2 : Math.max(0, at - 1), at);
}

/** High surrogate of the tag letters. Other characters have the same one, so the test may match too much. */
const TAG_HALF = "\udb40";
/** A flag of a part of a country (England, Scotland), or a single tag letter. */
const FLAG_OR_TAG =
  /(\u{1f3f4}[\u{e0061}-\u{e007a}]{2}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,4}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;

/** Returns true if a text may contain tag letters; a fast test. */
export function mayHoldTags(text: string): boolean {
  return text.includes(TAG_HALF);
}

/** Returns the text without tag letters, which spell invisible words. Keeps the tag letters of flags. */
export function withoutTags(text: string): string {
  // The replacement is a pattern, not a function, because a function call for each letter takes eight times as long.
  return text.replaceAll(FLAG_OR_TAG, "$1");
}

/** Characters that change the direction of text, so that the displayed order differs from the stored order. */
const DIRECTION = String.raw`\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
/**
 * Carriage return without a line feed. It moves a terminal to the start of the line, where the next characters
 * overwrite the text.
 */
const LONE_RETURN = /\r(?!\n)/g;
const UNSAFE_TO_SHOW = new RegExp(`[${DIRECTION}${CONTROL}]`, "gu");

/**
 * Returns text that is safe to display in a terminal and on a page: without direction marks, and without control
 * characters except line breaks and tabs. Texts of tools and servers could otherwise repaint the screen or forge its
 * content. A lone carriage return becomes a line break.
 */
export function safeToShow(text: string): string {
  return text.replaceAll(UNSAFE_TO_SHOW, "").replaceAll(LONE_RETURN, "\n");
}

/** Makes JSON text safe to display. Each unsafe character becomes an escape, so that the value is unchanged. */
export function safeJson(json: string): string {
  return json.replaceAll(UNSAFE_TO_SHOW, escaped);
}

/** Returns the character as an escape of JSON and JavaScript. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
