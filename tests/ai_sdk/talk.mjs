// A conversation through the unmodified AI SDK: `node talk.mjs <version> <address> <key> <project> <other project>`.
// Prints what its chats hold in the end, as JSON. Nothing is asserted here.

const [version, address, key, project, otherProject] = process.argv.slice(2);
const { DefaultChatTransport } = await import(`ai-${version}`);
const { Chat } = await import(`react-client-${version}`);

function transport(projectId) {
  return new DefaultChatTransport({
    api: `${address}/v1/chat/stream`,
    headers: { Authorization: `Bearer ${key}` },
    body: { project_id: projectId },
    prepareReconnectToStreamRequest: ({ id, headers }) => ({
      api: `${address}/v1/chat/${encodeURIComponent(id)}/stream`,
      headers,
    }),
  });
}

function open(name, projectId) {
  return new Chat({ id: `${name} ${version}`, transport: transport(projectId), onError: () => {} });
}

function told(chat) {
  return {
    status: chat.status,
    error: chat.error?.message ?? null,
    messages: chat.messages.map((message) => ({
      role: message.role,
      metadata: message.metadata ?? null,
      text: message.parts.filter((part) => part.type === "text").map((part) => part.text).join(""),
      recalled: message.parts
        .filter((part) => part.type === "data-context")
        .flatMap((part) => part.data.relevant_history.map((item) => item.content)),
    })),
  };
}

async function heard(chat, text) {
  while (told(chat).messages.at(-1)?.text !== text) await new Promise((wake) => setTimeout(wake, 10));
}

const earlier = open("earlier", project);
await earlier.sendMessage({ text: "My parrot is called Rico." });
await earlier.sendMessage({ text: "He is green." });

const later = open("later", project);
await later.sendMessage({ text: "What is my parrot called?" });

const elsewhere = open("elsewhere", otherProject);
await elsewhere.sendMessage({ text: "What is my parrot called?" });

const idle = open("later", project);
await idle.resumeStream();

const again = open("again", project);
await again.sendMessage({ text: "Sing." });
await again.regenerate();

const reader = open("slow", project);
const speaker = open("slow", project);
const speaking = speaker.sendMessage({ text: "SLOWLY, please." });
await heard(speaker, "La la");
const reading = reader.resumeStream();
await heard(reader, "La la");
const second = open("slow", project);
await second.sendMessage({ text: "Me too." });
await fetch(`${address}/v1/chat/${encodeURIComponent(`slow ${version}`)}/stop`, {
  method: "POST",
  headers: { Authorization: `Bearer ${key}` },
});
await speaking;
await reading;

const broken = open("broken", project);
await broken.sendMessage({ text: "BREAK off, please." });

console.log(
  JSON.stringify({
    earlier: told(earlier),
    later: told(later),
    elsewhere: told(elsewhere),
    idle: told(idle),
    again: told(again),
    speaker: told(speaker),
    reader: told(reader),
    second: told(second),
    broken: told(broken),
  }),
);
process.exit(0);
