/** Languages of the agent's own texts. Texts of models and tools are not translated. */
export type Locale = "en" | "fr";

/** All texts of the agent, for users and for the model. */
export interface AgentTexts {
  readonly instructions: string;
  readonly discovery: string;
  readonly hints: string;
  readonly maxIterations: string;
  readonly maxToolCalls: string;
  readonly maxTokens: string;
  readonly timeout: string;
  readonly cancelled: string;
  readonly error: (message: string) => string;
  /** Instructs the model to answer without tools. */
  readonly answerNow: string;
  readonly malformedArguments: (tool: string, received: string) => string;
  readonly callNotMade: string;
  readonly callCancelled: string;
  readonly cut: (bytes: number) => string;
  readonly unseen: (type: string, bytes: number) => string;
  readonly attached: (tool: string) => string;
  readonly toolResult: (tool: string) => string;
  readonly toolFailure: (tool: string) => string;
  readonly noDecision: string;
  readonly decide: string;
}

const EN: AgentTexts = {
  instructions:
    "You answer questions with the help of tools. Call a tool when it can find the requested information or do " +
    "the requested task; " +
    "call several tools in one reply when they do not depend on one another. " +
    "When a tool fails, read its error: correct the arguments, use another tool, or say what could not be " +
    "done. Never invent a tool's result.",
  discovery: "You see two of many tools: search for a suitable tool, then call it by the name in the search result.",
  hints: "Hints on individual tools:",
  maxIterations: "Maximum number of iterations reached",
  maxToolCalls: "Maximum number of tool calls reached",
  maxTokens: "Maximum number of tokens reached",
  timeout: "The time limit for this answer is reached",
  cancelled: "Cancelled",
  error: (message) => `The model returned no answer: ${message}`,
  answerNow:
    "No further tool can be called. Answer now with the information that you have, and state which information " +
    "is missing.",
  malformedArguments: (tool, received) => `The arguments of ${tool} must be one JSON object. Received: ${received}`,
  callNotMade: "Not called: the limit of tool calls for this answer is reached.",
  callCancelled: "Not finished: the answer was cancelled.",
  cut: (bytes) => `[truncated here: the result has ${bytes} bytes]`,
  unseen: (type, bytes) => `[${type}, ${bytes} bytes, not shown to this model]`,
  attached: (tool) => `From the result of ${tool}:`,
  toolResult: (tool) => `Result of ${tool}:`,
  toolFailure: (tool) => `${tool} failed:`,
  noDecision: "That was not a single JSON object with an `action`. Reply with only such an object.",
  decide: `Reply with exactly one JSON object and nothing else, one of:
{"action": "call_tool", "tool": "<name>", "arguments": {…}}
{"action": "call_tools", "calls": [{"tool": "<name>", "arguments": {…}}, …]}
{"action": "clarify", "question": "<information that you need from the user before you can continue>"}
{"action": "final_answer", "answer": "<your answer>"}
You get the results of tools as the next message, and decide anew.`,
};

const FR: AgentTexts = {
  instructions:
    "Tu réponds aux questions à l'aide d'outils. Appelle un outil quand il peut trouver ou faire ce qui est " +
    "demandé ; appelles-en plusieurs à la fois quand ils ne dépendent pas l'un de l'autre. " +
    "Quand un outil échoue, lis son erreur : corrige les arguments, prends un autre outil, ou dis ce qui n'a " +
    "pas pu être fait. N'invente jamais le résultat d'un outil. Réponds en français.",
  discovery:
    "Tu vois deux outils parmi beaucoup : cherche celui qui convient, puis appelle-le par le nom que la " +
    "recherche a donné.",
  hints: "À propos de certains outils :",
  maxIterations: "Max iterations atteintes",
  maxToolCalls: "Nombre maximal d'appels d'outils atteint",
  maxTokens: "Nombre maximal de jetons atteint",
  timeout: "Le temps prévu pour cette réponse est écoulé",
  cancelled: "Annulé",
  error: (message) => `Le modèle n'a pas répondu : ${message}`,
  answerNow: "Aucun outil ne peut plus être appelé. Réponds maintenant avec ce que tu sais, et dis ce qui manque.",
  malformedArguments: (tool, received) => `Les arguments de ${tool} doivent être un objet JSON. Reçu : ${received}`,
  callNotMade: "Non appelé : la limite d'appels d'outils pour cette réponse est atteinte.",
  callCancelled: "Non terminé : la réponse a été annulée.",
  cut: (bytes) => `[coupé ici : le résultat compte ${bytes} octets]`,
  unseen: (type, bytes) => `[${type}, ${bytes} octets, non montré à ce modèle]`,
  attached: (tool) => `Tiré du résultat de ${tool} :`,
  toolResult: (tool) => `Résultat de ${tool} :`,
  toolFailure: (tool) => `Échec de ${tool} :`,
  noDecision: "Ce n'était pas un objet JSON avec une `action`. Réponds uniquement par un tel objet.",
  decide: `Réponds par un seul objet JSON et rien d'autre, au choix :
{"action": "call_tool", "tool": "<nom>", "arguments": {…}}
{"action": "call_tools", "calls": [{"tool": "<nom>", "arguments": {…}}, …]}
{"action": "clarify", "question": "<ce que tu dois apprendre de l'utilisateur avant de continuer>"}
{"action": "final_answer", "answer": "<ta réponse>"}
Tu reçois les résultats des outils dans le message suivant, et tu décides à nouveau.`,
};

export const TEXTS: Readonly<Record<Locale, AgentTexts>> = { en: EN, fr: FR };
