// SPDX-License-Identifier: GPL-2.0
// The table of sites: it shows PAGE of them, those that have all words of the query, in the order of one column.
"use strict";

const PAGE = 100;
const HEAD = ["address", "place", "kind", "records", "first, s", "last, s", "CPUs", "instruction"];
const byId = (id) => document.getElementById(id);
const all = JSON.parse(byId("rows").textContent);
const words = all.map((row) => row.join(" ").toLowerCase());
let found = [], at = 0, column = 4, down = false;

function compare(a, b)
{
	const [x, y] = [all[a][column], all[b][column]];
	return (x < y ? -1 : x > y ? 1 : a - b) * (down ? -1 : 1);
}

function line(tag, cells)
{
	const row = document.createElement("tr");
	for (const cell of cells) {
		const element = row.appendChild(document.createElement(tag));
		element.textContent = cell;
		element.className = typeof cell === "number" ? "number" : "code";
	}
	return row;
}

function show()
{
	const last = Math.min(at + PAGE, found.length);
	byId("found").textContent = found.length ? `${at + 1} to ${last} of ${found.length}` : "none";
	byId("body").replaceChildren(...found.slice(at, last).map((i) => line("td", all[i])));
}

function search()
{
	const query = byId("query").value.toLowerCase().split(" ");
	found = [...all.keys()].filter((i) => query.every((word) => words[i].includes(word))).sort(compare);
	at = 0;
	show();
}

function turn(by)
{
	if (at + by >= 0 && at + by < found.length)
		at += by;
	show();
}

function order(to)
{
	down = column === to && !down;
	column = to;
	search();
}

byId("head").replaceChildren(line("th", HEAD));
byId("head").querySelectorAll("th").forEach((cell, i) => cell.addEventListener("click", () => order(i)));
byId("query").addEventListener("input", search);
byId("back").addEventListener("click", () => turn(-PAGE));
byId("on").addEventListener("click", () => turn(PAGE));
// A query can be part of the page's address: index.html#ftrace_caller
byId("query").value = decodeURIComponent(location.hash.slice(1));
search();
