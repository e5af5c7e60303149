//# about: scripts that name one another again and again end in an error, not in all of the memory
//# only: weld -- others run out of memory or time
//# sh: for i in $(seq 12); do j=$((i % 12 + 1)); [ $i = 12 ] && echo "INPUT(z.o)" >j12 || echo "INPUT(j$j j$j j$j j$j j$j j$j j$j j$j)" >j$i; done; cp scripts-that-multiply.o z.o
//# fail: j1
//# error: : linker scripts are read more than 10000 times
//# sh: { printf 'INPUT('; for i in $(seq 1100); do echo n.x; done; echo ')'; } >many; { printf 'INPUT('; for i in $(seq 1000); do echo many; done; echo ')'; } >all; echo '/* nothing */' >n.x; sed -i 's/n\.x/z.o/' many
//# fail: all
//# error: : linker scripts name more than 1048576 inputs
.section .note.GNU-stack,"",@progbits
