// Macros that headers of other libraries define, and that stand before ours in somebody's file.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex.h>  // under -std=gnu++20 it leaves I

// X11/X.h, Xlib.h
#define None 0L
#define Bool int
#define True 1
#define False 0
#define Status int
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define Unsorted 0
#define CursorShape 0
#define KeyPress 2
#define FocusIn 9
#define Opposite 4
#define DestroyAll 0

// curses.h
#define border(a, b, c, d, e, f, g, h) wborder(stdscr, a, b, c, d, e, f, g, h)
#define addch(c) waddch(stdscr, c)
#define delch() wdelch(stdscr)
#define getch() wgetch(stdscr)
#define scroll(w) wscrl(w, 1)
#define standout() wstandout(stdscr)
#define timeout(t) wtimeout(stdscr, t)
#define hline(c, n) whline(stdscr, c, n)
#define attron(a) wattron(stdscr, a)
#define ERR (-1)
#define OK (0)
#define TRUE 1
#define FALSE 0

// windows.h and what it includes
#define near
#define far
#define small char
#define hyper long
#define interface struct
#define pascal
#define cdecl
#define CONST const
#define IN
#define OUT
#define OPTIONAL
#define ERROR 0
#define DELETE 0x00010000L
#define NO_ERROR 0L
#define IGNORE 0
#define STRICT 1
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define TRANSPARENT 1
#define DIFFERENCE 11

// gettext, and headers that have a word for the host
#define _(text) gettext(text)
#define major(dev) gnu_dev_major(dev)
#define minor(dev) gnu_dev_minor(dev)
#define roundup(x, y) ((((x) + ((y)-1)) / (y)) * (y))
