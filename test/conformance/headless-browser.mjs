// Replaces the suite's browser: opens one address and follows its redirects.
const response = await fetch(process.argv.at(-1));
await response.text();
