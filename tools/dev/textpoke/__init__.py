# SPDX-License-Identifier: GPL-2.0
"""What builds, boots and checks the text poke series; never enters the kernel tree.

What all use is here itself, beside cli.py, which has the commands, and what these begin with. Each
package has one subject. In this order, each needs only packages above it:

series     the base, the patches and files, and how they reach other trees
pages      what pages are made of
results    results, and from what they were made
guests     kernels and their guests
code       what is read from source, sentences and machine code
records    what perf records of text pokes
proofs     the formal models
trace      hardware trace
bench      what changing text costs
packages   packages for Debian
checks     the commands that check the series as a whole
"""
