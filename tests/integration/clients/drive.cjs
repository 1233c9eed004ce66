// The loop of the programs that drive a JavaScript library: an order a line in, an answer a line
// out.
"use strict";

const readline = require("readline");

exports.serve = async (answer) => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let told;
    try {
      told = { done: (await answer(JSON.parse(line))) ?? null };
    } catch (error) {
      told = { failed: `${error.stack}\n${JSON.stringify(error)}` };
    }
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
};
